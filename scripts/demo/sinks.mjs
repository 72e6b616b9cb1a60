import { createServer } from 'node:http';

import { SMTPServer } from 'smtp-server';

/** Starts an HTTP server that records its requests, as the chat of a team or the API of a code host. */
export async function httpSink() {
  const received = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      received.push({ method: request.method, path: request.url, headers: request.headers, text });
      response.writeHead(201, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  const port = await listen(server);
  return { port, received, close: () => server.close() };
}

/** Starts a mail server that records its mails. */
export async function smtpSink() {
  const received = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, callback) {
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        received.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
        });
        callback();
      });
    },
  });
  const port = await new Promise((resolve) => {
    const started = server.listen(0, '127.0.0.1', () => resolve(started.address().port));
  });
  return { port, received, close: () => server.close() };
}

const listen = (server) =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
