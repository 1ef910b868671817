"""The groups of entry points in which everything that has a name is found, ours and that of others."""

METRIC_GROUP = "synthrisk.metrics"
ATTACK_GROUP = "synthrisk.attacks"
SYNTHESIZER_GROUP = "synthrisk.synthesizers"
SOURCE_GROUP = "synthrisk.data"
SECTION_GROUP = "synthrisk.sections"
