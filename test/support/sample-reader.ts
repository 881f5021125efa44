import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parse } from 'graphql'
import { ROLES, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { Person } from '../../tools/demo/person.ts'
import type { Json } from './json.ts'
import { freePort, operatorToken, type ServerProcess } from './process.ts'
import { executeSample } from './sample-graphql.ts'
import { signInAsViewer } from './sample-viewer.ts'

/** The origins as documents print them: of the server, and of an application of the reader. */
const PRINTED_ORIGIN = 'http://localhost:3000'
const PRINTED_APPLICATION = 'http://localhost:4000'
const RUN_LIMIT_MS = 60_000

/** Runs in bash before each sample: answers of curl from 400 on fail, and commands are those of the build. */
const PRELUDE = `
set -a
curl() { command curl --fail-with-body "$@"; }
vestibule() { node dist/cli.js "$@"; }
npx() { [ "$1" = vestibule ] && "$@"; }
[ ! -e state ] || source ./state
`
const EPILOGUE = '\nexport -p >state\n'

/** A person who follows one document: runs its samples in order, and keeps what they print and set. */
export class SampleReader {
  readonly tenant: string
  /** The output of the sh samples. */
  printed = ''
  /** The last answer to an operation of GraphQL. */
  answer: Json
  #viewerToken: string | undefined
  readonly #server: ServerProcess
  readonly #env: Record<string, string | undefined>
  readonly #directory: string
  readonly #application: string

  private constructor(
    server: ServerProcess,
    env: Record<string, string | undefined>,
    tenant: string,
    directory: string,
    application: string,
  ) {
    this.#server = server
    this.#env = env
    this.tenant = tenant
    this.#directory = directory
    this.#application = application
  }

  static async start(server: ServerProcess, env: Record<string, string | undefined>, tenant: string) {
    const directory = await mkdtemp(join(tmpdir(), 'vestibule-samples-'))
    await symlink(resolve('dist'), join(directory, 'dist'))
    return new SampleReader(server, env, tenant, directory, `http://localhost:${await freePort()}`)
  }

  close = () => rm(this.#directory, { recursive: true, force: true })

  get origin(): string {
    return this.#server.origin.replace('127.0.0.1', 'localhost')
  }

  /** Puts the origins of this run in the place of the printed ones. */
  withOrigins = (text: string): string =>
    text.replaceAll(PRINTED_ORIGIN, this.origin).replaceAll(PRINTED_APPLICATION, this.#application)

  /** Writes a file into the directory in which commands run. */
  write = (name: string, text: string) => writeFile(join(this.#directory, name), text)

  /** The credentials of a demo client, as the start printed them. */
  credentialsOf(name: string): string[] {
    const line = this.#server
      .output()
      .split('\n')
      .find((each) => each.trim().startsWith(name))
    return line?.trim().slice(name.length).trim().split(/\s+/) ?? []
  }

  /** Runs commands in bash; throws with their output unless they succeed. */
  async runShell(commands: string): Promise<void> {
    const { code, output } = await this.#run(
      'bash',
      ['-euo', 'pipefail'],
      PRELUDE + commands + EPILOGUE,
      this.#directory,
    )
    this.printed += output
    if (code !== 0) throw new Error(`ended with ${code}: ${output}`)
  }

  /** Runs a module; signs in as `address` at the first URL of a sign-in that it prints. */
  async runModule(source: string, address: string): Promise<void> {
    const visit = async (output: string) => {
      const url = /https?:\/\/\S+\/oidc\/authorize\S*/.exec(output)?.[0]
      if (!url) return false
      const landed = await new Person(this.origin, address, () => {}).signIn(new URL(url))
      const response = await fetch(landed)
      if (!(await response.text()).includes(address))
        throw new Error('the application does not know the user')
      return true
    }
    const { code, output } = await this.#run(process.execPath, ['--input-type=module'], source, '.', visit)
    if (code !== 0) throw new Error(`ended with ${code}: ${output}`)
  }

  async #run(
    command: string,
    args: string[],
    input: string,
    cwd: string,
    visit: (output: string) => Promise<boolean> = async () => true,
  ): Promise<{ code: number; output: string }> {
    const child = spawn(command, args, {
      cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...this.#env },
      timeout: RUN_LIMIT_MS,
    })
    const errors = buffer(child.stderr)
    const exited = once(child, 'exit')
    child.stdin.end(input)
    let output = ''
    let visited = false
    try {
      for await (const chunk of child.stdout) {
        output += chunk
        if (!visited) visited = await visit(output)
      }
    } catch (error) {
      child.kill()
      throw error
    }
    const [code] = await exited
    return { code, output: `${output}${await errors}` }
  }

  /** The token that the page made, or else one of the operator with the scopes of an administrator. */
  async token(): Promise<string> {
    const state = await readFile(join(this.#directory, 'state'), 'utf8').catch(() => '')
    const made = /^declare -x TOKEN="(.*)"$/m.exec(state)?.[1]
    return made ?? this.#operatorToken(this.tenant, ROLES.admin.join(' '))
  }

  /** Sends a REST call; throws unless it succeeds. */
  rest = async (method: string, path: string, body?: object): Promise<Json> =>
    this.#rest(this.tenant, await this.token(), method, path, body)

  /** Sends a REST call to tenant `system` as the operator; throws unless it succeeds. */
  restAsOperator = async (method: string, path: string, body?: object): Promise<Json> =>
    this.#rest(SYSTEM_TENANT, await this.#operatorToken(SYSTEM_TENANT, 'tenants:write'), method, path, body)

  #operatorToken = (tenant: string, scope: string) => operatorToken(this.#server, this.origin, tenant, scope)

  async #rest(tenant: string, token: string, method: string, path: string, body?: object): Promise<Json> {
    const response = await fetch(`${this.origin}/${tenant}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    return JSON.parse(text)
  }

  /** Executes each operation of a document as printed; throws at an error, including those in results. */
  async runGraphql(document: string): Promise<void> {
    for (const { loc } of parse(document).definitions) {
      const operation = document.slice(loc?.start, loc?.end)
      const token = /viewer/i.test(operation) ? await this.#signIn() : await this.token()
      this.answer = await executeSample(`${this.origin}/${this.tenant}/graphql`, operation, token)
    }
  }

  #signIn = async (): Promise<string> => (this.#viewerToken ??= await signInAsViewer(this))
}
