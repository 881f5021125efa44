import './permissions.css'
import { Link } from '@tanstack/react-router'
import { type FormEvent, Suspense, useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { GraphQLTaggedNode } from 'relay-runtime'
import type { AppRoleHolder, heldRolesQuery } from '../../generated/heldRolesQuery.graphql.ts'
import type { heldRolesUserMutation } from '../../generated/heldRolesUserMutation.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, ProblemText, toggleChoice } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'

type Kind = 'user' | 'client' | 'membership' | 'group'
type Role = { readonly id: string; readonly name: string }

type ProvidedRole = { readonly appRoleId: string; readonly idpName: string }

/** Says which identity provider gave a role, if one did, after `separator`. */
export function describeOrigin(
  roleId: string,
  provided: readonly ProvidedRole[] | null | undefined,
  separator = '',
): string | undefined {
  const origin = provided?.find(({ appRoleId }) => appRoleId === roleId)
  return origin && separator + t('from {name}', { name: origin.idpName })
}

/** A search is of use from so many roles on. */
const MANY = 10

const MUTATIONS: Record<Kind, GraphQLTaggedNode> = {
  user: graphql`
    mutation heldRolesUserMutation($id: ID!, $appRoleIds: [ID!]!) {
      setUserAppRoles(input: { userId: $id, appRoleIds: $appRoleIds }) {
        __typename
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `,
  client: graphql`
    mutation heldRolesClientMutation($id: ID!, $appRoleIds: [ID!]!) {
      setClientAppRoles(input: { clientId: $id, appRoleIds: $appRoleIds }) {
        __typename
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `,
  membership: graphql`
    mutation heldRolesMembershipMutation($id: ID!, $appRoleIds: [ID!]!) {
      setMembershipAppRoles(input: { membershipId: $id, appRoleIds: $appRoleIds }) {
        __typename
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `,
  group: graphql`
    mutation heldRolesGroupMutation($id: ID!, $appRoleIds: [ID!]!) {
      setGroupAppRoles(input: { groupId: $id, appRoleIds: $appRoleIds }) {
        __typename
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `,
}

/** The roles at APIs that somebody holds directly, and a dialog that changes them. */
export function HeldRoles({
  kind,
  id,
  name,
  holder,
  organizationId = null,
  held,
  provided = [],
  onChange,
}: {
  kind: Kind
  /** The id of the holder, and its name. */
  id: string
  name: string
  /** Whom the roles must be for, and the organization whose own roles are offered too. */
  holder: AppRoleHolder
  organizationId?: string | null
  held: readonly Role[]
  /** Which of them an identity provider gave. */
  provided?: readonly ProvidedRole[]
  onChange: () => void
}) {
  const mayWrite = useMay('roles:write')
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div className="held">
      {held.length === 0 && <span className="none">{t('No roles at APIs')}</span>}
      {held.map((role) => (
        <Link key={role.id} to="/app-roles/$appRoleId" params={{ appRoleId: role.id }} className="badge">
          {role.name}
          {describeOrigin(role.id, provided, ' · ')}
        </Link>
      ))}
      {mayWrite && (
        <button
          type="button"
          className="link"
          aria-label={t('Change the roles at APIs of {name}', { name })}
          onClick={() => setIsOpen(true)}
        >
          {t('Change')}
        </button>
      )}
      {isOpen && (
        <Dialog title={t('Roles at APIs of {name}', { name })} onClose={() => setIsOpen(false)}>
          <Suspense fallback={<ListSkeleton />}>
            <RoleForm
              {...{ kind, id, holder, organizationId, held }}
              onClose={() => setIsOpen(false)}
              onSaved={() => {
                setIsOpen(false)
                onChange()
              }}
            />
          </Suspense>
        </Dialog>
      )}
    </div>
  )
}

function RoleForm({
  kind,
  id,
  holder,
  organizationId,
  held,
  onSaved,
  onClose,
}: {
  kind: Kind
  id: string
  holder: AppRoleHolder
  organizationId: string | null
  held: readonly Role[]
  onSaved: () => void
  onClose: () => void
}) {
  const { appRoles, own } = useLazyLoadQuery<heldRolesQuery>(
    graphql`
      query heldRolesQuery($organizationId: ID, $inOrganization: Boolean!) {
        appRoles(first: 1000, filter: { owner: TENANT }) {
          nodes {
            id
            name
            description
            assignableTo
          }
        }
        own: appRoles(first: 100, filter: { organizationId: $organizationId })
          @include(if: $inOrganization) {
          nodes {
            id
            name
            description
            assignableTo
          }
        }
      }
    `,
    { organizationId, inOrganization: organizationId !== null },
    { fetchPolicy: 'store-and-network' },
  )
  // A role that was given by another call may be beyond the first thousand.
  const [chosen, setChosen] = useState<readonly string[]>(() => held.map((role) => role.id))
  const [search, setSearch] = useState('')
  const set = useProblemMutation<heldRolesUserMutation>(MUTATIONS[kind])
  const offered = [...(own?.nodes ?? []), ...(appRoles?.nodes ?? [])].filter(({ assignableTo }) =>
    assignableTo.includes(holder),
  )
  const found = offered.filter(({ name, description }) =>
    `${name} ${description ?? ''}`.toLowerCase().includes(search.toLowerCase()),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    set.run({ id, appRoleIds: chosen }, onSaved)
  }
  return (
    <form onSubmit={submit}>
      {offered.length === 0 && (
        <p className="empty">
          {t('There is no role for them yet.')} <Link to="/app-roles">{t('Roles at APIs')}</Link>
        </p>
      )}
      {offered.length > MANY && (
        <input
          type="search"
          aria-label={t('Search roles')}
          placeholder={t('Search roles')}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      )}
      <fieldset className="plain choices long-choice" aria-label={t('Roles at APIs')}>
        {found.map((role) => (
          <CheckField
            key={role.id}
            label={role.name}
            hint={role.description}
            checked={chosen.includes(role.id)}
            onChange={(isOn) => setChosen(toggleChoice(chosen, role.id, isOn))}
          />
        ))}
      </fieldset>
      <ProblemText problem={set.problem} />
      <div className="actions">
        <button type="submit" className="button" disabled={set.isRunning}>
          {t('Save roles')}
        </button>
        <button type="button" className="button quiet" onClick={onClose}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  )
}
