/// The types that this package reads and writes. As stored constants they cost a decoder no allocation.
package enum NDEFType {
    static let text: [UInt8] = [0x54]
    package static let uri: [UInt8] = [0x55]
    static let smartPoster: [UInt8] = [0x53, 0x70]
    static let action: [UInt8] = [0x61, 0x63, 0x74]
    static let size: [UInt8] = [0x73]
    static let mediaType: [UInt8] = [0x74]
    static let handoverRequest: [UInt8] = Array("Hr".utf8)
    static let handoverSelect: [UInt8] = Array("Hs".utf8)
    static let handoverCarrier: [UInt8] = Array("Hc".utf8)
    static let alternativeCarrier: [UInt8] = Array("ac".utf8)
    static let collisionResolution: [UInt8] = Array("cr".utf8)
    static let handoverError: [UInt8] = Array("err".utf8)
    static let signature: [UInt8] = Array("Sig".utf8)
    static let androidApplication: [UInt8] = Array("android.com:pkg".utf8)
}
