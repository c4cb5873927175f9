enum NDEFEncoder {
    static func encode(_ records: [NDEFRecord], mode: NDEFMode, limits: NDEFLimits) throws(NDEFError) -> [UInt8] {
        throw NDEFError(.emptyMessage, at: 0, attempting: .encoding)
    }
}
