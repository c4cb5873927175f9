// A check of one's own beside the doctor's: `swift run --package-path Examples OwnCheck`.
import Diagnosis

let fan = Check(
    id: "machine.fan",
    title: "The fan turns",
    looksAt: "/sys/class/hwmon",
    explanation: "A kiosk behind glass without its fan stops on the first warm day."
) { machine in
    guard let speed = machine.number("/sys/class/hwmon/hwmon0/fan1_input") else {
        return .cannotTell("This machine does not report its fan's speed.")
    }
    guard speed > 0 else {
        return .broken("The fan stands still.", remedy: [.instruction("Clean the fan, or replace it.")])
    }
    return .fine("The fan turns.", evidence: ["\(speed) turns a minute"])
}

let report = await MachineDiagnosis(checks: MachineDiagnosis.readerChecks + [fan]).run(on: Machine())
print(report.summary)
