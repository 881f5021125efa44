import { getConsoleUrl } from '../clients/console-client.ts'
import { env } from '../core/env.ts'
import { DEMO_TENANT } from './demo.ts'

/** A URL where somebody who has just started the server continues. */
export type StartUrl = { label: string; url: string; description: string }

/** The URLs that a start prints, and that `/` shows in development. */
export function listStartUrls(tenant: string): StartUrl[] {
  const issuer = `${env.baseUrl}/${tenant}`
  const development = [
    {
      label: 'Try a sign-in',
      url: `${env.baseUrl}/dev/client`,
      description: `Sign in to a demo application as a user of tenant ${DEMO_TENANT}.`,
    },
    {
      label: 'Development inbox',
      url: `${env.baseUrl}/dev/inbox`,
      description: 'Read the mail and text messages that would have been sent.',
    },
  ]
  return [
    ...(env.isProduction ? [] : development.slice(env.demo ? 0 : 1)),
    ...(env.console
      ? [{ label: 'Console', url: getConsoleUrl(tenant), description: 'Users, sessions and the log, live.' }]
      : []),
    {
      label: 'OpenID Connect',
      url: `${issuer}/.well-known/openid-configuration`,
      description: 'The discovery document, for relying parties.',
    },
    {
      label: 'GraphQL',
      url: `${issuer}/graphql`,
      description: 'GraphiQL, with the documentation of the schema.',
    },
    { label: 'REST', url: `${issuer}/api/v1/docs`, description: 'The reference of the management API.' },
    {
      label: 'OpenAPI',
      url: `${issuer}/api/v1/openapi.json`,
      description: 'The description of the REST API.',
    },
  ]
}
