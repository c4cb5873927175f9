import Foundation

/// What is sent with a request.
public struct SirenBody: Sendable, Hashable {
    /// A part of the bytes.
    public typealias Piece = SirenFile.Content

    /// The value of the header `Content-Type`.
    public var type: String
    /// The bytes, piece by piece; those in files are read while they are sent.
    public var pieces: [Piece]

    /// Creates a body.
    public init(_ pieces: [Piece], type: String) {
        self.pieces = pieces
        self.type = type
    }

    /// Creates a body of bytes.
    public init(_ bytes: [UInt8], type: String) { self.init([.bytes(bytes)], type: type) }
}

/// How forms become bytes, by the media type that actions name.
public struct SirenEncodings: Sendable {
    /// Makes a body of a form.
    ///
    /// - Parameter type: the media type as the action has it, with its parameters.
    public typealias Encoding = @Sendable (_ form: SirenForm, _ type: String) throws(SirenRequestError) -> SirenBody

    private var encodings: [String: Encoding]

    /// The encodings `application/x-www-form-urlencoded`, `multipart/form-data` and `application/json`, the last one for
    /// every type that ends in `+json` too.
    ///
    /// - Parameter boundary: makes the boundaries of multipart bodies, which have to differ from all that is sent.
    public init(boundary: @escaping @Sendable () -> String = { "siren-\(UUID().uuidString)" }) {
        encodings = [
            "application/x-www-form-urlencoded": { form, type throws(SirenRequestError) in
                SirenBody(Array(try Self.query(form).utf8), type: type)
            },
            "application/json": { form, type throws(SirenRequestError) in
                SirenBody(SirenValue.object(try Self.json(form)).json, type: type)
            },
            "multipart/form-data": { form, _ throws(SirenRequestError) in try Self.multipart(form, boundary()) },
        ]
    }

    /// Adds an encoding, or replaces one.
    public mutating func register(_ type: String, _ encoding: @escaping Encoding) {
        encodings[MediaType.essence(type)] = encoding
    }

    /// Makes a body of a form.
    ///
    /// - Parameter type: the media type as the action has it.
    /// - Throws: ``SirenRequestError/encodingUnknown(_:)``, or whatever the encoding throws.
    public func body(_ form: SirenForm, type: String) throws(SirenRequestError) -> SirenBody {
        let essence = MediaType.essence(type)
        let json = essence.hasSuffix("+json") ? encodings["application/json"] : nil
        guard let encoding = encodings[essence] ?? json else { throw .encodingUnknown(type) }
        return try encoding(form, type)
    }

    /// A form as a query (application/x-www-form-urlencoded).
    public static func query(_ form: SirenForm) throws(SirenRequestError) -> String {
        var pairs: [String] = []
        for entry in form.entries {
            guard let text = entry.value.formText else {
                throw .encodingTooNarrow(encoding: "application/x-www-form-urlencoded", field: entry.name)
            }
            // A box that is not ticked is not sent.
            if entry.value != .bool(false) { pairs.append("\(escaped(entry.name))=\(escaped(text))") }
        }
        return pairs.joined(separator: "&")
    }

    /// As the URL standard has it: a space is `+`, and all but letters, digits and `*-._` is escaped.
    private static func escaped(_ text: String) -> String {
        text.percentEscaped { $0.isAlphanumeric || "*-._ ".utf8.contains($0) }.replacing(" ", with: "+")
    }

    /// A flat object: numbers as they are written, boxes as truth values, several values as a list.
    private static func json(_ form: SirenForm) throws(SirenRequestError) -> SirenObject {
        var names: [String] = []
        var values: [String: [SirenValue]] = [:]
        for entry in form.entries {
            let value: SirenValue
            switch entry.value {
            case .text(let text): value = .string(text)
            case .number(let number): value = .number(number)
            case .bool(let flag): value = .bool(flag)
            case .url(let url): value = .string(url.absoluteString)
            case .file, .list: throw .encodingTooNarrow(encoding: "application/json", field: entry.name)
            }
            if values[entry.name] == nil { names.append(entry.name) }
            values[entry.name, default: []].append(value)
        }
        return SirenObject(
            distinct: names.map { name in
                let all = values[name] ?? []
                let isOne = all.count == 1 && !form.several.contains(name)
                return SirenObject.Member(name, isOne ? all[0] : .array(all))
            }
        )
    }

    /// As HTML has it (RFC 7578).
    private static func multipart(_ form: SirenForm, _ boundary: String) throws(SirenRequestError) -> SirenBody {
        var pieces: [SirenBody.Piece] = []
        var text = ""
        for entry in form.entries where entry.value != .bool(false) {
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(quoted(entry.name))\""
            if case .file(let file) = entry.value {
                guard file.length != nil else { throw .fileUnreadable(field: entry.name) }
                text += "; filename=\"\(quoted(file.name))\"\r\nContent-Type: \(line(file.type))\r\n\r\n"
                pieces += [.bytes(Array(text.utf8)), file.content]
                text = ""
            } else {
                text += "\r\n\r\n\(entry.value.formText ?? "")"
            }
            text += "\r\n"
        }
        text += "--\(boundary)--\r\n"
        return SirenBody(pieces + [.bytes(Array(text.utf8))], type: "multipart/form-data; boundary=\(boundary)")
    }

    private static func quoted(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\"": result += "%22"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }))
    }
}
