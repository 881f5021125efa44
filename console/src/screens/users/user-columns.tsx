import { Link } from '@tanstack/react-router'
import { graphql, useFragment } from 'react-relay/hooks'
import type { userColumns_user$data, userColumns_user$key } from '../../generated/userColumns_user.graphql.ts'
import { Avatar } from '../../parts/avatar.tsx'
import type { Column } from '../../parts/big-list.tsx'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'

/** The fields of the columns, as they change. */
export const useUser = (key: userColumns_user$key): userColumns_user$data =>
  useFragment(
    graphql`
      fragment userColumns_user on User {
        id
        isDeleted
        name
        email
        emailVerified
        phoneNumber
        picture
        locked
        roles
        locale
        externalId
        lastSeenAt
        createdAt
        updatedAt
      }
    `,
    key,
  )

function State({ user }: { user: userColumns_user$data }) {
  if (user.isDeleted) return <span className="badge danger">{t('Deleted')}</span>
  if (user.locked) return <span className="badge danger">{t('Locked')}</span>
  if (user.email && !user.emailVerified) return <span className="badge warning">{t('Not verified')}</span>
  return <span className="badge calm">{t('Active')}</span>
}

export const USER_COLUMNS: readonly Column<userColumns_user$data>[] = [
  {
    name: 'name',
    sort: 'ascending',
    label: t('Name'),
    width: 180,
    grow: 2,
    render: ({ id, name, email, phoneNumber, picture }) => (
      <Link to="/users/$userId" params={{ userId: id }} className="row-link" tabIndex={-1}>
        <Avatar name={name ?? email ?? phoneNumber ?? ''} picture={picture ?? null} />
        <span className="truncated">{name ?? email ?? phoneNumber ?? id}</span>
      </Link>
    ),
  },
  {
    name: 'address',
    sort: 'ascending',
    label: t('Address'),
    width: 180,
    grow: 2,
    phone: 'second',
    render: ({ email, phoneNumber }) => <span className="truncated">{email ?? phoneNumber}</span>,
  },
  {
    name: 'state',
    label: t('State'),
    width: 120,
    grow: 1,
    phone: 'end',
    render: (user) => <State user={user} />,
  },
  {
    name: 'lastSeen',
    sort: 'descending',
    label: t('Last seen'),
    width: 110,
    grow: 1,
    render: ({ lastSeenAt }) => <Time at={lastSeenAt} />,
  },
  {
    name: 'created',
    sort: 'descending',
    label: t('Created'),
    width: 110,
    grow: 1,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    name: 'phone',
    label: t('Phone'),
    width: 150,
    grow: 1,
    isOptional: true,
    render: ({ phoneNumber }) => <span className="truncated">{phoneNumber}</span>,
  },
  {
    name: 'roles',
    label: t('Roles'),
    width: 110,
    grow: 1,
    isOptional: true,
    render: ({ roles }) => <span className="truncated">{roles.join(', ')}</span>,
  },
  {
    name: 'language',
    label: t('Language'),
    width: 90,
    grow: 1,
    isOptional: true,
    render: ({ locale }) => locale,
  },
  {
    name: 'externalId',
    label: t('External id'),
    width: 150,
    grow: 1,
    isOptional: true,
    render: ({ externalId }) => <span className="truncated">{externalId}</span>,
  },
  {
    name: 'updated',
    label: t('Changed'),
    sort: 'descending',
    width: 110,
    grow: 1,
    isOptional: true,
    render: ({ updatedAt }) => <Time at={updatedAt} />,
  },
  {
    name: 'id',
    label: t('Id'),
    width: 260,
    grow: 1,
    isOptional: true,
    render: ({ id }) => <code className="truncated">{id}</code>,
  },
]
