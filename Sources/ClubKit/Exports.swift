// Whoever imports ClubKit has these too.
@_exported import ClubMessages
@_exported import ClubRecords
@_exported import ClubScenarios
