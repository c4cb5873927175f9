enum NDEFDecoder {
    static func decode(
        _ bytes: [UInt8],
        mode: NDEFMode,
        limits: NDEFLimits
    ) -> (records: [NDEFRecord], fault: NDEFError?) {
        ([], NDEFError(.emptyMessage, at: 0))
    }
}
