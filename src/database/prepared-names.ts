/** Statements kept at most; each costs memory in every connection. */
const MAX_STATEMENTS = 500;

/** Names of prepared statements by their text, the same for the whole process. */
export class PreparedNames {
  private names = new Map<string, string>();
  private generation = 0;

  /** @returns undefined when there are too many: the statement is then sent without a name */
  of(text: string): string | undefined {
    const known = this.names.get(text);
    if (known !== undefined || this.names.size >= MAX_STATEMENTS) return known;
    const name = `s${this.generation}_${this.names.size}`;
    this.names.set(text, name);
    return name;
  }

  /** Gives every statement a new name from now on. */
  forget(): void {
    this.names = new Map();
    this.generation += 1;
  }
}
