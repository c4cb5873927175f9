"""Prints each visit at a kiosk, also after it was away: python3 visits.py http://127.0.0.1:8080 [TOKEN]"""
import json, sys, time, urllib.request

headers = {"Authorization": "Bearer " + sys.argv[2]} if len(sys.argv) > 2 else {}
while True:
    try:
        for line in urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/v1/events", headers=headers)):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                headers["Last-Event-ID"] = value  # from here it goes on
            event = json.loads(value) if name == "data" else {}
            if event.get("event") in ("created", "visit"):
                print(event["member"]["username"] or event["member"]["userId"], event["member"]["numVisits"], flush=True)
    except OSError as error:
        print(error, file=sys.stderr)
    time.sleep(1)
