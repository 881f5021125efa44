import { createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'

/** The paths of the scripts of the page that is rendered. Its Content Security Policy allows scripts if there are any. */
export const PageScripts = createContext(new Set<string>())

/** A script that improves a part of any page, once per page. The part works without it. */
export function PageScript({ path }: { path: string }): VNode | null {
  const scripts = useContext(PageScripts)
  if (scripts.has(path)) return null
  scripts.add(path)
  return <script src={path} defer />
}
