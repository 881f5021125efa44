#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { format, stripVTControlCharacters } from 'node:util'
import { type CommandDef, defineCommand, renderUsage, runMain } from 'citty'
import { env } from './core/env.ts'
import { errorMessage } from './core/error-message.ts'
import { PACKAGE_ROOT } from './core/package-root.ts'
import { closeDatabase } from './database/connections.ts'
import { runMigrations } from './database/migrate.ts'
import { resolveConnectionSettings } from './database/settings.ts'
import { explainStartError } from './server/start-errors.ts'

const NAME = 'vestibule'

const serveCommand = defineCommand({
  meta: { name: 'serve', description: 'Run the server' },
  run: async () => {
    await import('./main.ts')
  },
})

const migrateCommand = defineCommand({
  meta: {
    name: 'migrate',
    description: 'Apply pending migrations; the server also applies them at its start',
  },
  run: async () => {
    try {
      const names = await runMigrations(await resolveConnectionSettings({ canCreate: false }), {
        isPooled: env.databasePooler,
      })
      process.stdout.write(names.length > 0 ? `Applied ${names.join(', ')}.\n` : 'Nothing to apply.\n')
    } catch (error) {
      process.stderr.write(`${explainStartError(error) ?? errorMessage(error)}\n`)
      process.exitCode = 1
    } finally {
      await closeDatabase()
    }
  },
})

const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')) as {
  version: string
}

/** Citty prints its errors with escape codes, which are for terminals only. */
if (!process.stderr.isTTY)
  console.error = (...parts) => process.stderr.write(`${stripVTControlCharacters(format(...parts))}\n`)

/** Prints the usage of a command under its whole name. Colors are for terminals only. */
async function showUsage(command: CommandDef, parent?: CommandDef): Promise<void> {
  const group = (parent?.meta as { name?: string } | undefined)?.name
  const named = group && group !== NAME ? { ...parent, meta: { name: `${NAME} ${group}` } } : parent
  const text = await renderUsage(command, named as CommandDef)
  process.stdout.write(`${process.stdout.isTTY ? text : stripVTControlCharacters(text)}\n\n`)
}

const rootCommand: CommandDef = defineCommand({
  meta: {
    name: NAME,
    version,
    description: 'Identity platform: OpenID Connect, hosted sign-in, GraphQL and REST',
  },
  // Each is loaded when it is used: the operations of both APIs take a second.
  subCommands: {
    serve: serveCommand,
    migrate: migrateCommand,
    doctor: () => import('./cli/doctor.ts').then(({ doctorCommand }) => doctorCommand),
    tenant: () => import('./cli/tenant.ts').then(({ tenantCommand }) => tenantCommand),
    client: () => import('./cli/client.ts').then(({ clientCommand }) => clientCommand),
    'api-key': () => import('./cli/api-key.ts').then(({ apiKeyCommand }) => apiKeyCommand),
    document: () => import('./cli/document.ts').then(({ documentCommand }) => documentCommand),
    idp: () => import('./cli/idp.ts').then(({ idpCommand }) => idpCommand),
    admin: () => import('./cli/admin.ts').then(({ adminCommand }) => adminCommand),
    user: () => import('./cli/user.ts').then(({ userCommand }) => userCommand),
    import: () => import('./cli/user-files.ts').then(({ importCommand }) => importCommand),
    session: () => import('./cli/session.ts').then(({ sessionCommand }) => sessionCommand),
    event: () => import('./cli/event.ts').then(({ eventCommand }) => eventCommand),
    organization: () =>
      import('./cli/organization.ts').then(({ organizationCommand }) => organizationCommand),
    completion: () =>
      import('./cli/completion.ts').then(({ createCompletionCommand }) =>
        createCompletionCommand(() => rootCommand),
      ),
    key: () => import('./cli/key.ts').then(({ keyCommand }) => keyCommand),
    limit: () => import('./cli/limit.ts').then(({ limitCommand }) => limitCommand),
    webhook: () => import('./cli/webhook.ts').then(({ webhookCommand }) => webhookCommand),
  },
})

await runMain(rootCommand, { showUsage: showUsage as typeof import('citty').showUsage })
