import type { GraphQLSchema } from 'graphql'
import './scalars.graphql.ts'
import './errors.graphql.ts'
import './node.graphql.ts'
import './viewer.graphql.ts'
import './event-types.graphql.ts'
import './events.graphql.ts'
import '../audit/event-list.graphql.ts'
import '../clients/client-mutations.graphql.ts'
import '../clients/clients.graphql.ts'
import '../passcodes/passcodes.graphql.ts'
import '../credentials/credential-mutations.graphql.ts'
import '../credentials/credentials.graphql.ts'
import '../self/consents.graphql.ts'
import '../self/own-sessions.graphql.ts'
import '../self/self.graphql.ts'
import '../sessions/session-list.graphql.ts'
import '../sessions/session-mutations.graphql.ts'
import '../sessions/sessions.graphql.ts'
import '../tenants/tenants.graphql.ts'
import '../users/user-list.graphql.ts'
import '../users/user-mutations.graphql.ts'
import '../users/users.graphql.ts'
import { builder } from './builder.ts'

let built: GraphQLSchema | undefined

/** The schema of every *.graphql.ts file imported above. Needs no database. */
export const buildSchema = (): GraphQLSchema => (built ??= builder.toSchema())
