"""Tables, columns, file formats and the methodology document of a dataset. Nothing here reads the store."""
