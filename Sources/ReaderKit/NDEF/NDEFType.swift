/// The types that this package reads and writes. As stored constants they cost a decoder no allocation.
enum NDEFType {
    static let text: [UInt8] = [0x54]
    static let uri: [UInt8] = [0x55]
    static let smartPoster: [UInt8] = [0x53, 0x70]
    static let action: [UInt8] = [0x61, 0x63, 0x74]
    static let size: [UInt8] = [0x73]
    static let mediaType: [UInt8] = [0x74]
    static let androidApplication: [UInt8] = Array("android.com:pkg".utf8)
}
