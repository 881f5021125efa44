import { getServerSession } from 'next-auth'

export default async function Page() {
  const session = await getServerSession()
  if (!session) return <a href="/api/auth/signin/vestibule">Sign in</a>
  return <p>Signed in as {session.user.email}</p>
}
