"""What a study of a table could be: how its columns are read, what they mean to an attacker, and what it takes."""
