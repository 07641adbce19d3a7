"""How clients reach a server, and how they pass credentials to it."""
