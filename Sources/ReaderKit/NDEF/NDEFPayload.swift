/// The rules of the payloads whose types are known.
enum NDEFPayload {
    /// The first byte of a URI that is not well-formed UTF-8 or a control character.
    static func uriFault(in text: UnsafeBufferPointer<UInt8>) -> NDEFError? {
        nil
    }
}
