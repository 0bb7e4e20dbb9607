"""What tests of reports share: a browser, sets, and numbers read off the page."""
