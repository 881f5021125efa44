import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { fillIn, type SnippetFacts } from '../../console/src/screens/applications/snippet-text.ts'
import { CLIENT_TEMPLATES, type TemplateName } from '../../src/cli/client-templates.ts'
import { ROLES } from '../../src/core/scopes.ts'
import { fillCode } from '../../test/support/fill-code.ts'
import { type Example, FOLDER, readFile as readExampleFile, toTemplate } from './catalog.ts'

const START_LIMIT_MS = 120_000
const STEP_LIMIT_MS = 30_000
const POLL_MS = 100

/** A server with the demo tenant, and a machine client of it. */
export type DemoServer = {
  origin: string
  issuer: string
  backend: { clientId: string; clientSecret: string }
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Waits for a value. Throws with `describe` after the limit. */
export async function waitFor<Value>(
  find: () => Promise<Value | undefined> | Value | undefined,
  describe: () => string,
  limitMs = STEP_LIMIT_MS,
): Promise<Value> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const value = await find()
    if (value !== undefined) return value
    if (Date.now() > deadline) throw new Error(describe())
    await sleep(POLL_MS)
  }
}

/** A command in a shell, which is stopped with all that it starts. */
export class Command {
  /** Everything that it has printed. */
  output = ''
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess

  constructor(text: string, cwd: string, env: Record<string, string> = {}) {
    this.#child = spawn('bash', ['-euc', text], {
      cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk) => {
        this.output += chunk
      })
    this.ended = once(this.#child, 'close').then(([code]) => code)
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Waits for a text of the output; returns its groups. */
  waitForText(pattern: RegExp): Promise<RegExpExecArray> {
    return waitFor(
      () => pattern.exec(this.output) ?? undefined,
      () => `it did not print ${pattern}: ${this.output}`,
    )
  }

  /** Waits for its end. Throws unless it succeeds. */
  async succeed(): Promise<void> {
    const code = await this.ended
    if (code !== 0) throw new Error(`it ended with ${code}: ${this.output}`)
  }

  async stop(): Promise<void> {
    if (this.#child.pid && !this.hasEnded) process.kill(-this.#child.pid, 'SIGKILL')
    await this.ended
  }
}

type Token = { access_token: string }

/** A token of the machine client for the management API, with all of its scopes. */
export async function fetchBackendToken({ issuer, backend }: DemoServer): Promise<string> {
  const response = await fetch(`${issuer}/oidc/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${backend.clientId}:${backend.clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: ROLES.admin.join(' ') }),
  })
  if (!response.ok) throw new Error(`no token: ${await response.text()}`)
  return ((await response.json()) as Token).access_token
}

/** Sends a call of the management API as the machine client. Throws unless it succeeds. */
export async function callApi<Body>(
  server: DemoServer,
  method: string,
  path: string,
  body?: object,
): Promise<Body> {
  const response = await fetch(`${server.issuer}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${await fetchBackendToken(server)}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text) as Body
}

export const createUser = (server: DemoServer, email: string) =>
  callApi<{ id: string; email: string }>(server, 'POST', '/users', {
    email,
    emailVerified: true,
  })

/** The members of the client that `vestibule client create` makes with these options. */
function readClientOptions(text: string): object {
  const { values } = parseArgs({
    args: [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain),
    options: {
      template: { type: 'string', default: 'web' },
      name: { type: 'string' },
      scopes: { type: 'string', default: '' },
      set: { type: 'string', multiple: true, default: [] },
    },
  })
  const template = CLIENT_TEMPLATES[values.template as TemplateName]
  const members = values.set.map((member) => {
    const [name = '', value = ''] = member.split('=')
    return [name, JSON.parse(value)] as const
  })
  return {
    name: values.name ?? template.name,
    ...template.fields,
    scopes: values.scopes.split(',').filter(Boolean),
    ...Object.fromEntries(members),
  }
}

type Client = { id: string; secret: string | null }
export const createClient = (server: DemoServer, fields: object) =>
  callApi<Client>(server, 'POST', '/clients', { type: 'login', ...fields })

/** The newest code for an address in the development inbox, after the first `known` mails. */
const readCode = async (server: DemoServer, address: string, known: number): Promise<string | undefined> => {
  const messages = await readInbox(server, address)
  return messages.length > known ? /\b(\d{6})\b/.exec(messages[0]?.body ?? '')?.[1] : undefined
}

async function readInbox({ origin }: DemoServer, address: string): Promise<{ body: string }[]> {
  const response = await fetch(`${origin}/dev/inbox.json?to=${encodeURIComponent(address)}`)
  return ((await response.json()) as { messages: { body: string }[] }).messages
}

/** Signs in on the hosted pages by a code, and consents where they ask. */
export async function signIn(page: Page, { server, address }: Trial): Promise<void> {
  const { length: known } = await readInbox(server, address)
  await page.getByLabel('Email address').fill(address)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByLabel('6-digit code').waitFor()
  const code = await waitFor(
    () => readCode(server, address, known),
    () => `no code came for ${address}`,
  )
  await fillCode(page, code)
  await page.waitForURL((url) => !url.pathname.endsWith('/code'))
  const allow = page.getByRole('button', { name: 'Allow' })
  if (page.url().startsWith(server.issuer) && (await allow.count()) > 0) await allow.click()
}

/** How one example is tried, in a directory of its own. */
export class Trial {
  readonly server: DemoServer
  readonly example: Example
  readonly directory: string
  readonly facts: SnippetFacts
  /** Who signs in, a user of its own: an address gets ten codes in an hour. */
  readonly address: string
  readonly userId: string
  readonly #browser: Browser
  readonly #commands: Command[] = []
  readonly #contexts: BrowserContext[] = []

  private constructor(
    server: DemoServer,
    browser: Browser,
    example: Example,
    directory: string,
    facts: SnippetFacts,
    user: { id: string; email: string },
  ) {
    this.server = server
    this.#browser = browser
    this.example = example
    this.directory = directory
    this.facts = facts
    this.address = user.email
    this.userId = user.id
  }

  /** Copies an example, and fills its files in as the console does, with a client and a port of its own. */
  static async prepare(server: DemoServer, browser: Browser, example: Example): Promise<Trial> {
    const directory = await mkdtemp(join(tmpdir(), `vestibule-${example.id}-`))
    const redirect = new URL(example.redirectUri ?? example.address ?? 'http://localhost')
    if (redirect.port) redirect.port = String(await findFreePort())
    const facts: SnippetFacts = { issuer: server.issuer, clientId: '', redirectUri: redirect.href }
    const options = fillIn(toTemplate(example, example.client), facts)
    const client = await createClient(server, {
      ...readClientOptions(options),
      ...(example.redirectUri && { callbacks: [redirect.href] }),
    })
    facts.clientId = client.id
    facts.clientSecret = client.secret ?? ''
    await cp(join(FOLDER, example.id), directory, {
      recursive: true,
      filter: (path) => !/[\\/](node_modules|\.next|target)$/.test(path),
    })
    const user = await createUser(server, `${example.id}@demo.example`)
    const trial = new Trial(server, browser, example, directory, facts, user)
    for (const name of example.files)
      await writeFile(join(directory, name), trial.fillIn(readExampleFile(example, name)))
    return trial
  }

  fillIn = (text: string): string => fillIn(toTemplate(this.example, text), this.facts)

  /** Starts a command, with the values of this trial. */
  start(text: string, env?: Record<string, string>): Command {
    const { node } = this.example
    const isTooOld = Number.parseInt(process.versions.node, 10) < (node ?? 0)
    const shell = isTooOld ? `exec npx -y -p node@${node} -- bash -euc ${JSON.stringify(text)}` : text
    const command = new Command(this.fillIn(shell), this.directory, env)
    this.#commands.push(command)
    return command
  }

  /** Opens a page in a new browser. */
  async openPage(): Promise<Page> {
    const context = await this.#browser.newContext()
    context.setDefaultTimeout(STEP_LIMIT_MS)
    this.#contexts.push(context)
    return context.newPage()
  }

  get origin(): string {
    return new URL(this.facts.redirectUri).origin
  }

  /** Waits until a started server answers. */
  async waitUntilServing(command: Command, url = this.origin): Promise<void> {
    await waitFor(
      () => {
        if (command.hasEnded) throw new Error(`it ended: ${command.output}`)
        return fetch(url).then(
          () => true,
          () => undefined,
        )
      },
      () => `it did not answer at ${url}: ${command.output}`,
      START_LIMIT_MS,
    )
  }

  /** What its pages show, and the end of what its commands have printed. */
  async describeState(): Promise<string> {
    const pages = this.#contexts.flatMap((context) => context.pages())
    const shown = pages.map(async (page) => `${page.url()}\n${await page.locator('body').textContent()}`)
    return [...(await Promise.all(shown)), ...this.#commands.map(({ output }) => output.slice(-4000))].join(
      '\n',
    )
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close()
    for (const command of this.#commands) await command.stop()
    await rm(this.directory, { recursive: true, force: true })
  }
}
