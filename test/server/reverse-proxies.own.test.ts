import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort, type ServerProcess } from '../support/process.ts'
import { configureNginx, HAPROXY, NGINX, noProxy, startProxy } from '../support/proxies.ts'
import { readSamples } from '../support/samples.ts'
import {
  callGraphql,
  callRest,
  makeTenant,
  newServerEnv,
  startTestServer,
} from '../support/started-servers.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

const run = promisify(execFile)

const PAGE = 'docs/reverse-proxies.md'
/** A program that the machines of the tests do not have. */
const { TEST_CADDY } = process.env

/** The configuration of the page, with the addresses and files of this run. */
async function readConfiguration(language: string, directory: string, origin: string, server: ServerProcess) {
  const { port } = new URL(origin)
  const [key, certificate] = [join(directory, 'privkey.pem'), join(directory, 'fullchain.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
  await run('openssl', ['req', ...options, ...subject, '-keyout', key, '-out', certificate])
  await writeFile(
    join(directory, 'id.example.com.pem'),
    (await readFile(certificate)) + String(await readFile(key)),
  )
  const sample = readSamples(PAGE).find((known) => known.language === language)
  return (sample?.text ?? '')
    .replaceAll('127.0.0.1:3000', new URL(server.origin).host)
    .replace(/\/etc\/ssl\/(id\.example\.com\/)?/g, `${directory}/`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace(/^id\.example\.com \{/, `localhost:${port} {\n\ttls ${certificate} ${key}`)
    .replace('server_name id.example.com', 'server_name localhost')
}

type Proxy = {
  program: string
  language: string
  configure: (directory: string, text: string) => Promise<string[]>
}
const PROXIES: Record<string, Proxy> = {
  nginx: {
    program: NGINX,
    language: 'nginx',
    configure: async (directory, text) => {
      await writeFile(join(directory, 'vestibule.conf'), text)
      return configureNginx(directory, 'vestibule.conf')
    },
  },
  HAProxy: {
    program: HAPROXY,
    language: 'haproxy',
    configure: async (directory, text) => {
      const main = join(directory, 'haproxy.cfg')
      await writeFile(main, `${text}\n`)
      return ['-db', '-f', main]
    },
  },
  ...(TEST_CADDY && {
    Caddy: {
      program: TEST_CADDY,
      language: 'caddyfile',
      configure: async (directory: string, text: string) => {
        const main = join(directory, 'Caddyfile')
        await writeFile(main, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}\n`)
        return ['run', '--config', main]
      },
    },
  }),
}

describe.skipIf(noProxy)(`the configuration of ${PAGE} for`, () => {
  test.for(Object.entries(PROXIES))(
    '%s forwards requests and streams, and whom they are from',
    async ([, proxy]) => {
      // The certificate of this run is signed by nobody.
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
      onTestFinished(() => void vi.unstubAllEnvs())
      const origin = `https://localhost:${await freePort()}`
      const server = await startTestServer({ ...(await newServerEnv()), BASE_URL: origin, TRUST_PROXY: '1' })
      const { stop } = await startProxy(origin, proxy.program, async (directory) =>
        proxy.configure(directory, await readConfiguration(proxy.language, directory, origin, server)),
      )
      onTestFinished(stop)
      const token = await makeTenant({ ...server, origin }, origin, 'acme')

      const discovery = await fetch(`${origin}/acme/.well-known/openid-configuration`)
      expect(await discovery.json()).toMatchObject({ issuer: `${origin}/acme` })

      const proxied = { origin }
      const { viewer } = await callGraphql(proxied, 'acme', token, '{ viewer { eventPosition } }')
      const headers = { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'chosen-by-the-client' }
      const { headers: answered } = await callRest(proxied, 'acme', token, '/users', { name: 'Ada' }, headers)
      const requestId = answered.get('x-request-id')
      expect(requestId).not.toBe('chosen-by-the-client')
      await vi.waitFor(async () => {
        const { body } = await callRest(proxied, 'acme', token, `/events?requestId=${requestId}`)
        expect(body.events[0]?.actor.ip).toBe('127.0.0.1')
      })

      const url = `${origin}/acme/graphql`
      const query = 'subscription ($after: String) { events(after: $after) { ... on Event { typeName } } }'
      const variables = { after: viewer.eventPosition }
      const stream = await openEventStream(url, token, query, variables)
      onTestFinished(stream.close)
      const socket = openSocket(url.replace('https', 'wss'), token)
      onTestFinished(() => void socket.dispose())
      const created = { data: { events: { typeName: 'user.created' } } }
      expect((await stream.next())?.data).toMatchObject(created)
      expect((await socket.iterate({ query, variables }).next()).value).toMatchObject(created)
    },
  )
})
