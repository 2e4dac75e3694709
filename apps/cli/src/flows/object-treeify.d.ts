declare module "object-treeify" {
  type Tree = { [label: string]: Tree | null };
  /** The lines of a tree whose keys are the labels; a leaf is null. */
  export default function treeify(tree: Tree, options?: { joined?: boolean }): string;
}
