"""Files of others, a kind each: how they are read, whatever program has written them; what is ours is Parquet."""
