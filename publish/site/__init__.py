"""The site: pages for people and the app that serves them. The static report is made of its pages."""
