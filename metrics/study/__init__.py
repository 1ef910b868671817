"""From split to findings: what attacks left of each release, estimated. No verdict, no words for readers."""
