import { datagram, streamFrame, logRequest, type LogTargetSettings } from './log-formats.js';
import { HOST, logRecord, MAX_RECORD_BYTES } from './log-record.js';

const time = '2026-11-27T10:00:00.123456Z';
const entry = logRecord({
  source: 'activity_stream',
  severity: 'INFO',
  time,
  message: 'create team Ops',
  fields: { id: 7 },
});
const line = logRecord({ source: 'awx', severity: 'ERROR', time, message: 'b', fields: {} });

const settings = (changes: Partial<LogTargetSettings>): LogTargetSettings =>
  ({
    LOG_AGGREGATOR_TYPE: 'other',
    LOG_AGGREGATOR_HOST: 'logs.example.com',
    LOG_AGGREGATOR_PORT: null,
    LOG_AGGREGATOR_USERNAME: '',
    LOG_AGGREGATOR_PASSWORD: 'pass',
    ...changes,
  }) as LogTargetSettings;

describe('logRecord', () => {
  it('has the fields that dashboards of the reference product use', () => {
    expect(JSON.parse(entry.text)).toEqual({
      '@timestamp': time,
      level: 'INFO',
      logger_name: 'awx.analytics.activity_stream',
      host: HOST,
      message: 'create team Ops',
      id: 7,
    });
  });

  it('is truncated if it is too large', () => {
    const fields = { id: 7, changes: 'ü'.repeat(MAX_RECORD_BYTES / 2) };
    const { text } = logRecord({ ...entry, message: 'm', fields });
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_RECORD_BYTES);
    expect(JSON.parse(text)).toMatchObject({
      truncated: true,
      excerpt: expect.stringMatching(/^\{"id":7,/),
    });
  });
});

describe('logRequest', () => {
  it.each([
    ['logs.example.com', null, 'other', 'https://logs.example.com/'],
    ['logs.example.com', 8443, 'other', 'https://logs.example.com:8443/'],
    ['logs.example.com:9000/in', 8443, 'other', 'https://logs.example.com:9000/in'],
    ['http://logs.example.com/in', 8080, 'other', 'http://logs.example.com:8080/in'],
    ['https://logs.example.com:443', 8080, 'other', 'https://logs.example.com/'],
    ['[::1]', 8080, 'other', 'https://[::1]:8080/'],
    ['splunk', 8088, 'splunk', 'https://splunk:8088/services/collector/event'],
    ['splunk/raw', null, 'splunk', 'https://splunk/raw'],
    ['loki', 3100, 'loki', 'https://loki:3100/loki/api/v1/push'],
  ])('sends to the host %s and port %s of %s by %s', (host, port, type, url) => {
    const given = settings({
      LOG_AGGREGATOR_HOST: host,
      LOG_AGGREGATOR_PORT: port,
      LOG_AGGREGATOR_TYPE: type,
    });
    expect(logRequest(given, [entry]).url).toBe(url);
  });

  it('refuses a text that is not a host', () => {
    expect(() => logRequest(settings({ LOG_AGGREGATOR_HOST: 'a b' }), [entry])).toThrow(TypeError);
  });

  it('wraps records for the HTTP Event Collector of Splunk', () => {
    const { headers, body } = logRequest(settings({ LOG_AGGREGATOR_TYPE: 'splunk' }), [
      entry,
      line,
    ]);
    expect(headers.authorization).toBe('Splunk pass');
    const events = body.split('\n').map((text): unknown => JSON.parse(text));
    expect(events).toEqual([
      {
        time: 1795773600.123,
        host: HOST,
        source: 'awx.analytics.activity_stream',
        sourcetype: '_json',
        event: JSON.parse(entry.text),
      },
      expect.objectContaining({ source: 'awx' }),
    ]);
  });

  it('groups records into streams for Loki', () => {
    const given = settings({ LOG_AGGREGATOR_TYPE: 'loki', LOG_AGGREGATOR_USERNAME: 'me' });
    const { headers, body } = logRequest(given, [entry, line, entry]);
    expect(headers.authorization).toBe(`Basic ${Buffer.from('me:pass').toString('base64')}`);
    const value = ['1795773600123456000', entry.text];
    const labels = { service_name: 'automation-controller', host: HOST };
    expect(JSON.parse(body)).toEqual({
      streams: [
        { stream: { ...labels, logger: 'awx.analytics.activity_stream' }, values: [value, value] },
        { stream: { ...labels, logger: 'awx' }, values: [['1795773600123456000', line.text]] },
      ],
    });
  });

  it('sends an array to Logstash and other receivers, and lines to the others', () => {
    const bodyOf = (type: string): string =>
      logRequest(settings({ LOG_AGGREGATOR_TYPE: type }), [entry, line]).body;
    for (const type of ['logstash', 'other']) {
      expect(bodyOf(type)).toBe(`[${entry.text},${line.text}]`);
    }
    for (const type of ['loggly', 'sumologic']) {
      expect(bodyOf(type)).toBe(`${entry.text}\n${line.text}`);
    }
  });
});

it('syslog is framed by counted octets, and every other format by lines', () => {
  const message = `<131>1 ${time} ${HOST} automation-controller ${process.pid} awx - ${line.text}`;
  expect(datagram('syslog', line)).toBe(message);
  expect(streamFrame('syslog', line)).toBe(`${Buffer.byteLength(message)} ${message}`);
  expect(streamFrame('logstash', line)).toBe(`${line.text}\n`);
  expect(datagram('logstash', line)).toBe(line.text);
});
