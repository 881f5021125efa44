import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { organizationMembers_organization$key } from '../../generated/organizationMembers_organization.graphql.ts'
import type { organizationMembersAddMutation } from '../../generated/organizationMembersAddMutation.graphql.ts'
import type { organizationMembersInviteMutation } from '../../generated/organizationMembersInviteMutation.graphql.ts'
import type { organizationMembersPageQuery } from '../../generated/organizationMembersPageQuery.graphql.ts'
import type { organizationMembersRemoveMutation } from '../../generated/organizationMembersRemoveMutation.graphql.ts'
import type { organizationMembersUserQuery } from '../../generated/organizationMembersUserQuery.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { Field, ProblemText } from '../../parts/form.tsx'
import { MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { type Problem, toProblem } from '../../parts/result.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { MemberRoles } from './member-roles.tsx'

/** How members joined. */
const WAYS: Record<string, string> = {
  ADMINISTRATOR: t('added'),
  INVITATION: t('by an invitation'),
  DOMAIN: t('by the domain of the address'),
  PROVIDER: t('at an identity provider'),
  IMPORT: t('imported'),
  SCIM: t('by SCIM'),
}

/** The members of an organization, oldest membership first. */
export function OrganizationMembers({
  organization,
  mayWrite,
  onChange,
}: {
  organization: organizationMembers_organization$key
  mayWrite: boolean
  onChange: () => void
}) {
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    organizationMembersPageQuery,
    organizationMembers_organization$key
  >(
    graphql`
      fragment organizationMembers_organization on Organization
      @argumentDefinitions(after: { type: "String" }, first: { type: "Int", defaultValue: 50 })
      @refetchable(queryName: "organizationMembersPageQuery") {
        id
        name
        members(first: $first, after: $after) @connection(key: "organizationMembers_members") {
          totalSize
          edges {
            node {
              id
              userId
              joinedVia
              ...memberRoles_membership
              createdAt
              user {
                id
                name
                email
              }
            }
          }
        }
      }
    `,
    organization,
  )
  const remove = useProblemMutation<organizationMembersRemoveMutation>(graphql`
    mutation organizationMembersRemoveMutation($membershipId: ID!) {
      deleteMembership(input: { membershipId: $membershipId }) {
        ... on DeleteMembershipPayload {
          deletedMembershipId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const mayAdd = useMay('users:read') && mayWrite
  const { name, members } = data
  if (!members) return null
  return (
    <section className="card">
      <h2>{t('Members ({count})', { count: members.totalSize })}</h2>
      {mayAdd && <AddMember organizationId={data.id} onAdded={onChange} />}
      {members.edges.length === 0 && <p className="empty">{t('Nobody is a member yet.')}</p>}
      <ul className="sessions">
        {members.edges.map(({ node }) => {
          const { id, userId, user, joinedVia, createdAt } = node
          const member = user?.name ?? user?.email ?? userId
          return (
            <li key={id}>
              <div>
                <Link to="/users/$userId" params={{ userId }}>
                  {member}
                </Link>
                <span>{WAYS[joinedVia] ?? joinedVia}</span>
                <MemberRoles membership={node} onChange={onChange} />
              </div>
              <Time at={createdAt} />
              {mayWrite && (
                <ConfirmedButton
                  label={t('Remove')}
                  title={t('Remove {member} from {name}?', { member, name })}
                  consequence={<p>{t('The user stays, and loses what the membership gives.')}</p>}
                  isRunning={remove.isRunning}
                  problem={remove.problem}
                  onConfirm={(close) =>
                    remove.run({ membershipId: id }, () => {
                      close()
                      onChange()
                    })
                  }
                />
              )}
            </li>
          )
        })}
      </ul>
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(PAGE_SIZE)} />
    </section>
  )
}

/** Adds the user with an address, or invites the person. */
function AddMember({ organizationId, onAdded }: { organizationId: string; onAdded: () => void }) {
  const environment = useRelayEnvironment()
  const mayInvite = useMay('users:write')
  const [email, setEmail] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const add = useProblemMutation<organizationMembersAddMutation>(graphql`
    mutation organizationMembersAddMutation($input: CreateMembershipInput!) {
      createMembership(input: $input) {
        ... on CreateMembershipPayload {
          membership {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const invite = useProblemMutation<organizationMembersInviteMutation>(graphql`
    mutation organizationMembersInviteMutation($input: CreateInvitationInput!) {
      createInvitation(input: $input) {
        ... on CreateInvitationPayload {
          invitation {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const finish = (message: string) => {
    notify(message)
    setEmail('')
    onAdded()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setProblem(null)
    fetchQuery<organizationMembersUserQuery>(
      environment,
      graphql`
        query organizationMembersUserQuery($email: EmailAddress!) {
          userByEmail(email: $email) {
            id
          }
        }
      `,
      { email },
    ).subscribe({
      error: (error: Error) => setProblem(toProblem(error)),
      next: ({ userByEmail: user }) => {
        if (user)
          add.run(
            { input: { organizationId, userId: user.id } },
            () => finish(t('{email} is a member now.', { email })),
            setProblem,
          )
        else if (mayInvite)
          invite.run(
            { input: { email, organizationId } },
            () => finish(t('{email} is invited by a mail.', { email })),
            setProblem,
          )
        else setProblem({ message: t('No user has this address.'), fields: [] })
      },
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Field
        label={t('Add a member by e-mail address')}
        name="email"
        hint={mayInvite ? t('New people are invited by a mail.') : undefined}
        problem={problem}
      >
        {(props) => (
          <input
            {...props}
            type="email"
            autoComplete="off"
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
        )}
      </Field>
      <ProblemText problem={problem} shown={['email']} />
      <div className="actions">
        <button type="submit" className="button" disabled={email === '' || add.isRunning || invite.isRunning}>
          {t('Add member')}
        </button>
      </div>
    </form>
  )
}
