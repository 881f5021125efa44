import { type ComponentChildren, createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'

/** Whether the page is a sample. Its scripts do not run, and it has what they would show. */
export const IsSample = createContext(false)

/** What a page says without scripts. */
export const WithoutScript = ({ children }: { children: ComponentChildren }): VNode | null =>
  useContext(IsSample) ? null : <noscript>{children}</noscript>

/** A part of a page that is hidden until its script runs. `attributes` are those of the element. */
export const ScriptedPart = ({
  children,
  ...attributes
}: { id: string; children: ComponentChildren } & Record<
  `data-${string}`,
  string | number | undefined
>): VNode => (
  <div {...attributes} hidden={!useContext(IsSample)}>
    {children}
  </div>
)
