# bash completion for penstock
_penstock() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} cmd=${COMP_WORDS[1]}
    local common="--json --quiet --verbose --help" compute="--device --threads"
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "prove verify setup key --help --version" -- "$cur")
        return
    fi
    case $prev in
    -d | --device)
        mapfile -t COMPREPLY < <(compgen -W "auto host cuda:0" -- "$cur")
        return
        ;;
    -t | --threads | --seed) return ;;
    esac
    case $cur in
    -*)
        case $cmd in
        prove) mapfile -t COMPREPLY < <(compgen -W "$common $compute --pages --r1cs --trace" -- "$cur") ;;
        verify) mapfile -t COMPREPLY < <(compgen -W "$common" -- "$cur") ;;
        setup) mapfile -t COMPREPLY < <(compgen -W "$common $compute --seed --trapdoor --delta-one" -- "$cur") ;;
        key) mapfile -t COMPREPLY < <(compgen -W "$common $compute" -- "$cur") ;;
        esac
        return
        ;;
    esac
    if [ "$cmd" = key ] && [ "$COMP_CWORD" = 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "info check" -- "$cur")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -o filenames -F _penstock penstock
