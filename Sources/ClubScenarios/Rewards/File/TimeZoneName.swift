import Foundation

/// The names of time zones.
enum TimeZoneName {
    /// The zone of an IANA name, in its own spelling; `nil` for offsets and abbreviations, which know no summer time or
    /// stand for several zones.
    static func zone(_ name: String) -> TimeZone? {
        guard name == "UTC" || name == "GMT" || name.contains("/"), name.utf8.count <= 64,
            name.utf8.allSatisfy(isAllowed), !name.contains("..")
        else { return nil }
        return TimeZone(identifier: name)
    }

    /// The name that is meant by one with a slip in it, or by the name of the city alone.
    static func nearest(_ name: String) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        let name = name.split(separator: " ").joined(separator: "_")
        let all = TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") }.sorted()
        if let nearest = NearestName.of(name, among: all) { return nearest }
        var cities: [String: String] = [:]
        for zone in all { if let city = zone.split(separator: "/").last { cities[String(city)] = zone } }
        let city = name.split(separator: "/").last.map(String.init) ?? name
        return NearestName.of(city, among: cities.keys.sorted()).flatMap { cities[$0] }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: [UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+")].contains(byte)
        }
    }
}
