"""The pages: each module gives its routes by `routes(site)` and has one line in `publish.app.ROUTES`."""
