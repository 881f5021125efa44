import type { BootstrapReport } from './bootstrap.ts'
import { env } from './env.ts'

const line = (label: string, value: string): string => `  ${label.padEnd(22)}${value}\n`

/** What a person reads after a start: what to open, and in development with which credentials. */
export function bannerOf({ urls, operator, operatorFile, demo }: BootstrapReport, port: number): string {
  const parts = [
    `\nVestibule is ready on port ${port}.\n\n`,
    ...urls.map(({ label, url }) => line(label, url)),
  ]
  if (operator && !env.isProduction) {
    parts.push('\nOperator (tenant system)\n', line('client id', operator.clientId))
    if (operatorFile)
      parts.push(line('client secret', operator.clientSecret ?? ''), line('kept in', operatorFile))
  }
  if (demo && !env.isProduction) {
    parts.push('\nDemo tenant\n', line('tenant', demo.tenant), line('administrator', demo.admin))
    for (const client of demo.clients)
      parts.push(line(`${client.name}`, [client.clientId, client.clientSecret].filter(Boolean).join('  ')))
  }
  if (!env.databaseUrl)
    parts.push(
      '\nThe embedded database is for development and trial: it survives kill -9, not a power cut.\n',
    )
  return `${parts.join('')}\n`
}
