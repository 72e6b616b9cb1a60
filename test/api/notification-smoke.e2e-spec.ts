import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { configurationsFor } from '../support/fakes/notification-configurations.js';
import { Notifier } from '../../src/notifications/notifier.js';

let test: TestApp;
beforeAll(async () => { test = await boot(); });
afterAll(() => test.close());
it('smoke', async () => {
  const sink = await HttpSink.start();
  const { as, home } = test;
  const made = await as.superuser.post('notification_templates/', { name: 'n', organization: home.organization.id, notification_type: 'webhook', notification_configuration: configurationsFor({ http: sink.port }).webhook, messages: { started: { message: 'Hi {{ job.name }}' } } });
  console.log(made.status, JSON.stringify(made.body, null, 1), made.headers.location);
  const opt = await as.superuser.options('notification_templates/');
  console.log(JSON.stringify(opt.body.actions.POST, null, 1).slice(0, 3000));
  const sent = await as.superuser.post(`notification_templates/${made.body.id}/test/`, {});
  console.log(sent.status, sent.headers, JSON.stringify(sent.body));
  const worker = await bootWorker(test);
  await worker.get(Notifier).handle(sent.body.notification);
  console.log(JSON.stringify((await as.superuser.get(`notifications/${sent.body.notification}/`)).body));
  console.log(JSON.stringify((await as.superuser.get(`notifications/${sent.body.notification}/attempts/`)).body));
  console.log(sink.requests);
  const re = await as.superuser.post(`notifications/${sent.body.notification}/resend/`);
  console.log(re.status, re.headers.location, JSON.stringify(re.body));
  console.log(JSON.stringify((await as.superuser.get(`notification_templates/?search=n`)).body));
  console.log((await as.superuser.get(`notification_templates/?notification_configuration__icontains=x`)).body);
  console.log((await as.superuser.get(`notifications/?search=test&created__gte=2020-01-01&status=successful&notification_template=${made.body.id}`)).body);
  await worker.close(); await sink.close();
});
