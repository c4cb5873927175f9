import ClubKit
import Foundation

/// The same as `free-coffee.yaml`: the tenth visit since 1 October 2026 in Berlin, at most once a week, not on the first
/// day.
let coffee = Reward.stampCard(every: 10, since: Date(timeIntervalSince1970: 1_790_805_600)).scenarios(
    id: "free-coffee"
) { coffee in
    coffee.title = "A free coffee"
    coffee.message = "This coffee is on us."
    coffee.timeZone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    coffee.minSecondsSinceFirstEvent = 86_400
    coffee.rules = [.executions(atMost: 1, within: .seconds(7 * 86_400))]
}
