import { env } from '../core/env.ts'
import type { BootstrapReport } from './bootstrap.ts'

const formatBannerLine = (label: string, value: string): string => `  ${label.padEnd(22)}${value}\n`

/** The text after a start: the URLs, and in development the credentials. */
export function formatBanner({ urls, operator, operatorFile, demo }: BootstrapReport, port: number): string {
  const parts = [
    `\nVestibule is ready on port ${port}.\n\n`,
    ...urls.map(({ label, url }) => formatBannerLine(label, url)),
  ]
  if (operator && !env.isProduction) {
    parts.push('\nOperator (tenant system)\n', formatBannerLine('client id', operator.clientId))
    if (operatorFile)
      parts.push(
        formatBannerLine('client secret', operator.clientSecret ?? ''),
        formatBannerLine('kept in', operatorFile),
      )
  }
  if (demo && !env.isProduction) {
    parts.push(
      '\nDemo tenant\n',
      formatBannerLine('tenant', demo.tenant),
      formatBannerLine('administrator', demo.admin),
    )
    for (const client of demo.clients)
      parts.push(
        formatBannerLine(`${client.name}`, [client.clientId, client.clientSecret].filter(Boolean).join('  ')),
      )
  }
  if (!env.databaseUrl)
    parts.push('\nThe embedded database is for development and trial; production needs DATABASE_URL.\n')
  return `${parts.join('')}\n`
}
