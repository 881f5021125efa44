import { Link } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { groupMembers_group$key } from '../../generated/groupMembers_group.graphql.ts'
import type { groupMembersAddMutation } from '../../generated/groupMembersAddMutation.graphql.ts'
import type { groupMembersPageQuery } from '../../generated/groupMembersPageQuery.graphql.ts'
import type { groupMembersRemoveMutation } from '../../generated/groupMembersRemoveMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { UserByAddress } from './user-by-address.tsx'

/** The members of a group itself; nothing for a viewer who may not read users. */
export function GroupMembers({
  group,
  mayWrite,
  onChange,
}: {
  group: groupMembers_group$key
  mayWrite: boolean
  onChange: () => void
}) {
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    groupMembersPageQuery,
    groupMembers_group$key
  >(
    graphql`
      fragment groupMembers_group on Group
      @argumentDefinitions(after: { type: "String" }, first: { type: "Int", defaultValue: 50 })
      @refetchable(queryName: "groupMembersPageQuery") {
        id
        name
        members(first: $first, after: $after) @connection(key: "groupMembers_members") {
          totalSize
          edges {
            node {
              id
              name
              email
            }
          }
        }
      }
    `,
    group,
  )
  const add = useProblemMutation<groupMembersAddMutation>(graphql`
    mutation groupMembersAddMutation($groupId: ID!, $userId: ID!) {
      addGroupMembers(input: { groupId: $groupId, userIds: [$userId] }) {
        __typename
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const remove = useProblemMutation<groupMembersRemoveMutation>(graphql`
    mutation groupMembersRemoveMutation($groupId: ID!, $userId: ID!) {
      deleteGroupMembers(input: { groupId: $groupId, userIds: [$userId] }) {
        __typename
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const mayAdd = useMay('users:read') && mayWrite
  const { id: groupId, name, members } = data
  if (!members) return null
  return (
    <section className="card">
      <h2>{t('Members ({count})', { count: members.totalSize })}</h2>
      {mayAdd && (
        <UserByAddress
          label={t('Add a member by e-mail address')}
          submitLabel={t('Add member')}
          isRunning={add.isRunning}
          problem={add.problem}
          onFound={(user, reset) =>
            add.run({ groupId, userId: user.id }, () => {
              notify(t('{email} is a member now.', { email: user.email }))
              reset()
              onChange()
            })
          }
        />
      )}
      {members.edges.length === 0 && <p className="empty">{t('Nobody is a member yet.')}</p>}
      <ul className="sessions">
        {members.edges.map(({ node }) => {
          const member = node.name ?? node.email ?? node.id
          return (
            <li key={node.id}>
              <div>
                <Link to="/users/$userId" params={{ userId: node.id }} search={{ tab: 'permissions' }}>
                  {member}
                </Link>
                <span>{node.email}</span>
              </div>
              {mayWrite && (
                <ConfirmedButton
                  label={t('Remove')}
                  title={t('Remove {member} from {name}?', { member, name })}
                  consequence={<p>{t('The user loses the roles of the group.')}</p>}
                  isRunning={remove.isRunning}
                  problem={remove.problem}
                  onConfirm={(close) =>
                    remove.run({ groupId, userId: node.id }, () => {
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
