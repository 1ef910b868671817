"""Pictures of the data: real records beside releases in groups of at least ten people, and where quality is lost."""
