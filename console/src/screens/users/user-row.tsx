import { Link } from '@tanstack/react-router'
import { graphql, useFragment } from 'react-relay/hooks'
import type { userRow_user$key } from '../../generated/userRow_user.graphql.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Time } from '../../parts/time.tsx'

export function UserRow({ user: key }: { user: userRow_user$key }) {
  const user = useFragment(
    graphql`
      fragment userRow_user on User {
        id
        name
        email
        emailVerified
        phoneNumber
        picture
        locked
        lastSeenAt
        createdAt
      }
    `,
    key,
  )
  const address = user.email ?? user.phoneNumber
  return (
    <tr>
      <th scope="row">
        <Link to="/users/$userId" params={{ userId: user.id }} className="row-link">
          <Avatar name={user.name ?? address ?? ''} picture={user.picture ?? null} />
          <span className="truncated">{user.name ?? address ?? user.id}</span>
        </Link>
      </th>
      <td className="truncated">{address}</td>
      <td>
        {user.locked ? (
          <span className="badge danger">Locked</span>
        ) : user.email && !user.emailVerified ? (
          <span className="badge warning">Not verified</span>
        ) : (
          <span className="badge calm">Active</span>
        )}
      </td>
      <td data-label="Last seen">
        <Time at={user.lastSeenAt} />
      </td>
      <td data-label="Created">
        <Time at={user.createdAt} />
      </td>
    </tr>
  )
}
