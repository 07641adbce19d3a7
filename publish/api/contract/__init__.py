"""What all operations of the API share: models, responses, authentication, access to published servers and runs.

Problem documents are in publish.web.
"""
