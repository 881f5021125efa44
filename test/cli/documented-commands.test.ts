import { readFileSync } from 'node:fs'
import type { ArgsDef, CommandDef } from 'citty'
import { describe, expect, test } from 'vitest'
import { adminCommand } from '../../src/cli/admin.ts'
import { apiKeyCommand } from '../../src/cli/api-key.ts'
import { clientCommand } from '../../src/cli/client.ts'
import { documentCommand } from '../../src/cli/document.ts'
import { eventCommand } from '../../src/cli/event.ts'
import { idpCommand } from '../../src/cli/idp.ts'
import { keyCommand } from '../../src/cli/key.ts'
import { limitCommand } from '../../src/cli/limit.ts'
import { organizationCommand } from '../../src/cli/organization.ts'
import { sessionCommand } from '../../src/cli/session.ts'
import { tenantCommand } from '../../src/cli/tenant.ts'
import { userCommand } from '../../src/cli/user.ts'
import { webhookCommand } from '../../src/cli/webhook.ts'
import { listFiles } from '../support/documents.ts'

type Usage = { positionals: number; options: string[] }

/** Options that the page describes once for all commands. */
const OF_ALL = ['--json', '--tenant', '--set', '--url', '--token']

const groups = {
  tenant: tenantCommand,
  client: clientCommand,
  'api-key': apiKeyCommand,
  document: documentCommand,
  idp: idpCommand,
  admin: adminCommand,
  user: userCommand,
  key: keyCommand,
  limit: limitCommand,
  webhook: webhookCommand,
  session: sessionCommand,
  event: eventCommand,
  organization: organizationCommand,
}

const readOptions = (text: string): string[] => [
  ...new Set([...text.matchAll(/--[a-z-]+/g)].map(([option]) => option)),
]

/** What a command takes. */
function toUsage(command: CommandDef): Usage {
  const args = Object.entries(command.args as ArgsDef)
  return {
    positionals: args.filter(([, { type }]) => type === 'positional').length,
    options: args.filter(([, { type }]) => type !== 'positional').map(([name]) => `--${name}`),
  }
}

/** The commands of the page by name, with all options of their row. */
function readDocumented(): Map<string, Usage> {
  const [table = ''] = readFileSync('docs/command-line.md', 'utf8').split('\n## ')
  const rows = [...table.matchAll(/^\| (`.*?) \| (.*) \|$/gm)]
  return new Map(
    rows.flatMap(([, names = '', text = '']) =>
      [...names.matchAll(/`([a-z-]+(?: [a-z][a-z-]*)*)( .*?)?`/g)].map(([, name = '', rest = '']) => {
        const positionals = rest.replace(/--[a-z-]+ [^ \]]+/g, '').match(/\b[A-Z]+\b/g)?.length ?? 0
        return [name, { positionals, options: readOptions(`${rest} ${text}`) }] as const
      }),
    ),
  )
}

const documented = readDocumented()
const commands = Object.entries(groups).flatMap(([group, { subCommands }]) =>
  Object.entries(subCommands as Record<string, CommandDef>).map(
    ([name, command]) => [`${group} ${name}`, toUsage(command)] as const,
  ),
)

describe('docs/command-line.md', () => {
  test.for(commands)('describes the arguments and options of %s', ([name, usage]) => {
    const described = documented.get(name)
    expect(described?.positionals).toBe(usage.positionals)
    expect(described?.options.filter((option) => !usage.options.includes(option))).toEqual([])
    const missing = usage.options.filter((option) => !described?.options.includes(option))
    expect(missing.filter((option) => !OF_ALL.includes(option))).toEqual([])
  })

  test('describes no other command', () => {
    const names: string[] = commands.map(([name]) => name)
    expect([...documented.keys()].filter((name) => !names.includes(name))).toEqual([
      'serve',
      'migrate',
      'doctor',
      'completion',
    ])
  })
})

test('every npm script that a document names is one of package.json', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const files = listFiles().filter((file) => /^(README|CONTRIBUTING|docs\/[\w-]+)\.md$/.test(file))
  const named = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bnpm (?:run ([a-z:]+)|(start|test)\b)/g)].map(
      ([, script, short = '']) => script ?? short,
    ),
  )
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})
