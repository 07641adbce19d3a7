"""The site: its pages and templates. The static report is rendered from them."""
