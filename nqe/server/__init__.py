"""The server: questions over HTTP, answered in batches, and the page."""
