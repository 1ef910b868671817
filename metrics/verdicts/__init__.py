"""From findings to verdicts, and the words and tables in which a study's answer is read."""
