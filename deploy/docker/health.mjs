// Health check of the image: asks the agent for /health, at the address in PETREL_LISTEN. Exits with 0 if it answers.
// An agent without HTTP (PETREL_LISTEN=off) cannot be asked, and counts as healthy. An image that sets the address in
// a file needs its own HEALTHCHECK.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

const { PETREL_LISTEN: listen = '', PETREL_HTTP_TLS_CERT: certificate = '' } = process.env;
if (listen !== 'off') {
  const address = listen === '' || listen === 'auto' ? '127.0.0.1:8008' : listen;
  const here = address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
  const [scheme, request] = certificate === '' ? ['http', requestHttp] : ['https', requestHttps];
  // The certificate is for the names that clients use, not for this address.
  const options = { rejectUnauthorized: false, timeout: 4_000 };
  request(`${scheme}://${here}/health`, options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
    .on('timeout', () => process.exit(1))
    .on('error', ({ message }) => {
      process.stderr.write(`${message}\n`);
      process.exit(1);
    })
    .end();
}
