// `import ClubKit` is all that a kiosk needs: records, rules and messages come with it.
@_exported import ClubMessages
@_exported import ClubRecords
@_exported import ClubScenarios
