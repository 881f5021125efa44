#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { defineCommand, runMain } from 'citty'
import { adminCommand } from './cli/admin.ts'
import { clientCommand } from './cli/client.ts'
import { keysCommand } from './cli/keys.ts'
import { tenantCommand } from './cli/tenant.ts'
import { usersCommand } from './cli/users.ts'
import { closeDatabase, connectionSettings } from './db.ts'
import { migrate } from './migrate.ts'

const serve = defineCommand({
  meta: { name: 'serve', description: 'Run the server' },
  run: async () => {
    await import('./main.ts')
  },
})

const migrateCommand = defineCommand({
  meta: { name: 'migrate', description: 'Apply pending migrations; the server does so too when it starts' },
  run: async () => {
    try {
      const names = await migrate(await connectionSettings())
      process.stdout.write(names.length > 0 ? `Applied ${names.join(', ')}.\n` : 'Nothing to apply.\n')
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
      process.exitCode = 1
    } finally {
      await closeDatabase()
    }
  },
})

// Beside src as beside dist.
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

await runMain(
  defineCommand({
    meta: {
      name: 'vestibule',
      version,
      description: 'Identity platform: OpenID Connect, hosted sign-in, GraphQL and REST',
    },
    subCommands: {
      serve,
      migrate: migrateCommand,
      tenant: tenantCommand,
      client: clientCommand,
      admin: adminCommand,
      users: usersCommand,
      keys: keysCommand,
    },
  }),
)
