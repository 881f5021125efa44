/** Returns an object with certain members of another. */
export type MemberPicker = (source: Record<string, unknown>) => Record<string, unknown>

/**
 * Generates the function that picks members: an object literal, so that all results have one hidden class, without a
 * loop over the names. With a prefix, the source has the members under names that start with it.
 *
 *     (source) => ({ "id": source["s_id"], "userId": source["s_userId"] })
 */
export function createMemberPicker(names: readonly string[], prefix = ''): MemberPicker {
  const members = names.map((name) => `${JSON.stringify(name)}: source[${JSON.stringify(prefix + name)}]`)
  return new Function('source', `return { ${members.join(', ')} }`) as MemberPicker
}
