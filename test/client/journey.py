"""Runs the journey of journey.ts with the client that openapi-python-client generates.

Arguments: URL, token, organization, job template. Prints the outcome as JSON.
"""

import json
import sys

from controller_client import AuthenticatedClient
from controller_client.api.job_templates import job_template_launch
from controller_client.api.jobs import jobs_retrieve
from controller_client.api.notification_templates import notification_templates_create
from controller_client.api.teams import teams_create, teams_list, teams_retrieve
from controller_client.models.job_template_launch_body import JobTemplateLaunchBody
from controller_client.models.notification_templates_create_body import NotificationTemplatesCreateBody
from controller_client.models.teams_create_body import TeamsCreateBody

url, token, organization, template = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
client = AuthenticatedClient(base_url=url, token=token)

team = teams_create.sync(client=client, body=TeamsCreateBody(name='Generated', organization=organization))
listed = teams_list.sync(client=client, search='Generated', page_size=5)
refused = teams_create.sync(client=client, body=TeamsCreateBody(name='', organization=organization))
missing = teams_retrieve.sync(client=client, id='999999')
channel = notification_templates_create.sync(
    client=client,
    body=NotificationTemplatesCreateBody.from_dict(
        {
            'name': 'Chat',
            'organization': organization,
            'notification_type': 'webhook',
            'notification_configuration': {'url': 'https://chat.example.com', 'http_method': 'POST', 'headers': {}},
        }
    ),
)
job = job_template_launch.sync(client=client, id=str(template), body=JobTemplateLaunchBody())
found = jobs_retrieve.sync(client=client, id=str(job.id))

print(
    json.dumps(
        {
            'team': team.url,
            'listed': [result.name for result in listed.results],
            'mistakes': refused.to_dict(),
            'missing': missing.detail,
            'channel': channel.type_,
            'job': [found.type_, found.launch_type],
        }
    )
)
