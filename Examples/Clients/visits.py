"""Prints each visit at a kiosk: python3 visits.py http://127.0.0.1:8080 [TOKEN]"""
import json, sys, urllib.request

request = urllib.request.Request(sys.argv[1] + "/v1/events")
if len(sys.argv) > 2:
    request.add_header("Authorization", "Bearer " + sys.argv[2])
for line in urllib.request.urlopen(request):
    if line.startswith(b"data: "):
        event = json.loads(line[6:])
        if event.get("event") in ("created", "visit"):
            print(event["member"]["username"] or "somebody", event["member"]["numVisits"], flush=True)
