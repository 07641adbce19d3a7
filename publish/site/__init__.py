"""The site: pages for people and the app that serves them. Its templates also make the static report."""
