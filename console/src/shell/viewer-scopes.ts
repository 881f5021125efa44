import { createContext, useContext } from 'react'
import type { shellQuery$data } from '../generated/shellQuery.graphql.ts'

/** A management scope, as GraphQL names it. */
export type Scope = NonNullable<shellQuery$data['viewer']>['scopes'][number]

/** The scopes of the viewer's token. */
export const ViewerScopes = createContext<ReadonlySet<Scope>>(new Set())

/** Whether the viewer may do what the scope permits. */
export const useMay = (scope: Scope): boolean => useContext(ViewerScopes).has(scope)

/** The id of the organization that the token of the viewer permits to manage; null for other tokens. */
export const ManagedOrganization = createContext<string | null>(null)
export const useManagedOrganization = (): string | null => useContext(ManagedOrganization)

/** Tells whether the viewer lacks one of the scopes of a role, and so may not give or take it. */
export function useLacks(): (scopes: readonly { readonly scope: Scope }[]) => boolean {
  const held = useContext(ViewerScopes)
  return (scopes) => scopes.some(({ scope }) => !held.has(scope))
}
