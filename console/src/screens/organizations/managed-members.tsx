import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { managedMembers_organization$key } from '../../generated/managedMembers_organization.graphql.ts'
import type { managedMembersPageQuery } from '../../generated/managedMembersPageQuery.graphql.ts'
import type { managedMembersRemoveMutation } from '../../generated/managedMembersRemoveMutation.graphql.ts'
import type { managedMembersRightMutation } from '../../generated/managedMembersRightMutation.graphql.ts'
import type { managedMembersRolesMutation } from '../../generated/managedMembersRolesMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { CheckField, ProblemText, toggleChoice } from '../../parts/form.tsx'
import { MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { t } from '../../words/words.ts'
import { describeOrigin } from '../permissions/held-roles.tsx'

/** A role that members may hold. */
export type MemberRole = { readonly id: string; readonly name: string }

/** The members of an organization, as its administrator changes them. */
export function ManagedMembers({
  organization,
  roles,
  onChange,
}: {
  organization: managedMembers_organization$key
  roles: readonly MemberRole[]
  onChange: () => void
}) {
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    managedMembersPageQuery,
    managedMembers_organization$key
  >(
    graphql`
      fragment managedMembers_organization on Organization
      @argumentDefinitions(after: { type: "String" }, first: { type: "Int", defaultValue: 50 })
      @refetchable(queryName: "managedMembersPageQuery") {
        id
        name
        members(first: $first, after: $after) @connection(key: "managedMembers_members") {
          totalSize
          edges {
            node {
              id
              userId
              name
              email
              isAdministrator
              appRoles {
                id
              }
              providedAppRoles {
                appRoleId
                idpName
              }
            }
          }
        }
      }
    `,
    organization,
  )
  const setRight = useProblemMutation<managedMembersRightMutation>(graphql`
    mutation managedMembersRightMutation($membershipId: ID!, $isAdministrator: Boolean!) {
      updateMembership(input: { membershipId: $membershipId, isAdministrator: $isAdministrator }) {
        ... on UpdateMembershipPayload {
          membership {
            id
            isAdministrator
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const setRoles = useProblemMutation<managedMembersRolesMutation>(graphql`
    mutation managedMembersRolesMutation($membershipId: ID!, $appRoleIds: [ID!]!) {
      setMembershipAppRoles(input: { membershipId: $membershipId, appRoleIds: $appRoleIds }) {
        ... on SetMembershipAppRolesPayload {
          __typename
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const remove = useProblemMutation<managedMembersRemoveMutation>(graphql`
    mutation managedMembersRemoveMutation($membershipId: ID!) {
      deleteMembership(input: { membershipId: $membershipId }) {
        ... on DeleteMembershipPayload {
          deletedMembershipId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { members } = data
  if (!members) return null
  return (
    <section className="card">
      <h2>{t('Members ({count})', { count: members.totalSize })}</h2>
      <ProblemText problem={setRight.problem ?? setRoles.problem} />
      <ul className="sessions">
        {members.edges.map(
          ({ node: { id, userId, name, email, isAdministrator, appRoles, providedAppRoles } }) => {
            const member = name ?? email ?? userId
            const held = (appRoles ?? []).map((role) => role.id)
            return (
              <li key={id}>
                <div>
                  <strong>{member}</strong>
                  {name && <span>{email}</span>}
                </div>
                <fieldset className="plain choices">
                  <legend className="hidden">{member}</legend>
                  <CheckField
                    label={t('Administrator')}
                    checked={isAdministrator}
                    disabled={setRight.isRunning}
                    onChange={(isOn) => setRight.run({ membershipId: id, isAdministrator: isOn }, onChange)}
                  />
                  {roles.map((role) => (
                    <CheckField
                      key={role.id}
                      label={role.name}
                      hint={describeOrigin(role.id, providedAppRoles)}
                      checked={held.includes(role.id)}
                      disabled={setRoles.isRunning}
                      onChange={(isOn) =>
                        setRoles.run(
                          {
                            membershipId: id,
                            appRoleIds: toggleChoice(held, role.id, isOn),
                          },
                          onChange,
                        )
                      }
                    />
                  ))}
                </fieldset>
                <ConfirmedButton
                  label={t('Remove')}
                  title={t('Remove {member} from {name}?', { member, name: data.name })}
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
              </li>
            )
          },
        )}
      </ul>
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(PAGE_SIZE)} />
    </section>
  )
}
